#!/bin/sh
# Replays the trace that README.md tells. Options and exit statuses: ./run.sh --help
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
for python in "$folder/.venv/bin/python" python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        exec "$python" -I -B "$folder" "$@"
    fi
done
echo "Python 3.9 or later was not found: install it (Debian and Ubuntu: apt install python3; macOS: brew install python3)" >&2
exit 2
