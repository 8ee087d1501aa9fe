#!/bin/sh
# Starts a node. A node that had peers says hello to them again: after a restart of all, each has a new address, and
# what nodes.conf says of the others is out of date.
set -eu
export REDISCLI_AUTH="$PASSWORD"

greet() {
    until [ "$(valkey-cli ping 2>/dev/null)" = PONG ]; do sleep 1; done
    for number in 0 1 2 3 4 5; do
        address=$(getent hosts "valkey-$number.valkey" | cut -d ' ' -f 1)
        [ -z "$address" ] || valkey-cli cluster meet "$address" 6379
    done
}

if [ "$(grep -c @ /data/nodes.conf 2>/dev/null)" -gt 1 ] 2>/dev/null; then
    greet &
fi
exec valkey-server /etc/valkey/valkey.conf \
    --requirepass "$PASSWORD" --primaryauth "$PASSWORD" --cluster-announce-ip "$POD_IP"
