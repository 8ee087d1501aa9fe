#!lua
-- A new session, unless its key is taken.    KEYS: state    ARGV: blob, time to drop the key (ms)
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', '0', 'blob', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
return 1
