"""`python -m service`: the whole house, store included."""

import sys

from service.launcher import main

if __name__ == "__main__":
    sys.exit(main())
