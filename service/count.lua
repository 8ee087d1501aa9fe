-- One more request of a client: how long it has to wait.    KEYS: where    ARGV: the time (µs) or '', interval, burst
return count(KEYS[1], clock(ARGV[1]), ARGV[2], ARGV[3])
