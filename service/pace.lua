-- For scripts that limit. They have no first line with flags, so that a store that takes no writes still serves reads:
-- what cannot be counted then passes.

-- The time in µs: the one that is given, else this store's own.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Counts one more at a key (GCRA: what is kept is when all is forgotten), unless it has to wait; returns for how long.
local function count(key, now, interval, burst)
  local full = interval * burst
  local forgotten = tonumber(redis.call('GET', key)) or now
  -- A clock that was put back shuts nobody out.
  if forgotten < now or forgotten > now + full then forgotten = now end
  local wait = forgotten + interval - full - now
  if wait > 0 then return wait end
  -- No replica and no log needs to know: whoever takes over forgets, and a read costs no write to the disk.
  redis.set_repl(redis.REPL_NONE)
  -- A minute longer than it counts by this store's clock: the time may be another's.
  local kept = math.ceil(full / 1000) + 60000
  redis.pcall('SET', key, string.format('%.0f', forgotten + interval), 'PX', kept)
  return 0
end
