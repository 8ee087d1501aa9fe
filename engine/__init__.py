"""The rules of the games: pure, typed, and ignorant of networks, clocks and stores."""
