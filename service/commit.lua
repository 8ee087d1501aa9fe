#!lua
-- One change of one session, whole or not at all: every check comes before the first write.
-- KEYS: state, log, keys
-- ARGV: version it was worked out from, blob, time to drop the keys (ms), field of the
--       idempotency record or '', the record, after how many versions a blob is kept,
--       the channel on which readers wait, then the log entries
if ARGV[4] ~= '' and redis.call('HEXISTS', KEYS[3], ARGV[4]) == 1 then return 'recorded' end
local version = redis.call('HGET', KEYS[1], 'version')
if not version then return 'missing' end
if version ~= ARGV[1] then return 'conflict' end

local entries = #ARGV - 7
-- The log first: were it another kind of key, this would fail before anything is written.
for entry = 8, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[entry]) end
redis.call('HSET', KEYS[1], 'version', string.format('%d', version + entries), 'blob', ARGV[2])
-- Every so often the blob is kept, so that what was can be worked out from a version nearby.
local mark = math.floor((version + entries) / ARGV[6])
if mark > math.floor(version / ARGV[6]) then redis.call('HSET', KEYS[1], string.format('mark:%d', mark), ARGV[2]) end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[5]) end
for key = 1, 3 do redis.call('PEXPIREAT', KEYS[key], ARGV[3]) end
redis.call('SPUBLISH', ARGV[7], version + entries)
return 'committed'
