#!lua flags=no-writes
-- A session's blob, the clock (C-4) and any record of the request's key, all from one node.
-- KEYS: state, keys    ARGV: field of the idempotency record or ''
local time = redis.call('TIME')
local recorded = ARGV[1] ~= '' and redis.call('HGET', KEYS[2], ARGV[1])
return {time[1], time[2], redis.call('HGET', KEYS[1], 'blob'), recorded}
