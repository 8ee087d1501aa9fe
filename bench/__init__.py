"""What a move costs, measured beside the least that it could cost; `python -m bench.run`."""
