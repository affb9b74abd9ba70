import sys
import time

for part in (b"A\xe2\x82", b"\xacB", b"\xf0\x9f", b"\x92\xa9\n"):
    sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    time.sleep(0.3)
