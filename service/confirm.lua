#!lua
-- Write a record once more, as it is: a replica that has this has all that was written before it.
-- KEYS: keys    ARGV: field of the idempotency record
local record = redis.call('HGET', KEYS[1], ARGV[1])
if record then redis.call('HSET', KEYS[1], ARGV[1], record) end
