"""Write the table of Kafka's error codes, from the newest release whose jars are known.

python scripts/write_protocol_errors.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parent.parent / "checker" / "cluster" / "protocol_errors.csv"
PROGRAM = """
import org.apache.kafka.common.protocol.Errors;
public class Codes {
  public static void main(String[] a) {
    for (Errors e : Errors.values()) System.out.println(e.code() + "," + e.name());
  }
}
"""


def main() -> None:
    from proofka.checker.cluster.jars import jars_of, known_releases
    from proofka.checker.cluster.java import compile_java, java_command

    jars = jars_of(known_releases()[-1])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "Codes.java"
        source.write_text(PROGRAM, encoding="utf-8")
        classes = compile_java(source, jars, Path(folder) / "classes")
        command = java_command([classes, *jars], "Codes")
        codes = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    rows = [line for line in codes.splitlines() if int(line.partition(",")[0]) > 0]
    TABLE.write_text("code,name\n" + "\n".join(sorted(rows, key=lambda row: int(row.partition(",")[0]))) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main()
