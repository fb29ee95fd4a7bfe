"""``python -m checker`` is ``proofka``."""

from checker.cli import main

if __name__ == "__main__":
    main()
