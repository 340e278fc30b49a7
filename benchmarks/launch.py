"""Run a command, and print its times and peak memory as JSON: ``python -I -S launch.py FILE COMMAND…``.

FILE gets the output of the command.

A process that is started inherits the peak of its starter's memory on Linux. This one is small, so that the figure
is the command's own.
"""

import json
import os
import subprocess
import sys
import time

with open(sys.argv[1], "wb") as said:  # noqa: PTH123 - importing pathlib would make this process larger
    start = time.perf_counter()
    started = subprocess.Popen(sys.argv[2:], stdout=said, stderr=subprocess.STDOUT)
    # The processor time includes the command's own children that it waited for.
    _, status, used = os.wait4(started.pid, 0)
    wall = time.perf_counter() - start
    started.returncode = os.waitstatus_to_exitcode(status)

peak = used.ru_maxrss / 1024 if sys.platform == "darwin" else used.ru_maxrss
measured = {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": peak / 1024, "status": started.returncode}
sys.stdout.write(json.dumps(measured))
