-- A session's blob, the clock (C-4) and any record of the request's key, all from one node; and how long whoever asks
-- has to wait. Counted is neither a request made again nor a token that is not one of the session's.
-- KEYS: state, keys, and where it is counted, if it is
-- ARGV: field of the idempotency record or '', the time (µs) or ''; then the hash of the asker's token, or '' of a
--       spectator; interval (µs) and burst, and for each game with others its mark in a blob, interval and burst
local now = clock(ARGV[2])
local blob = redis.call('HGET', KEYS[1], 'blob')
local recorded = ARGV[1] ~= '' and redis.call('HGET', KEYS[2], ARGV[1])
local wait = 0
if KEYS[3] and blob and not recorded and blob:find(ARGV[3], 1, true) then
  local interval, burst = ARGV[4], ARGV[5]
  for mark = 6, #ARGV, 3 do
    if blob:find(ARGV[mark], 1, true) then interval, burst = ARGV[mark + 1], ARGV[mark + 2] end
  end
  wait = count(KEYS[3], now, interval, burst)
end
return {now, blob, recorded, wait}
