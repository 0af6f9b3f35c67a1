import os, time
from pathlib import Path

def go_wrong(request, answer):
    faults = Path(__file__).with_name('faults')
    left = faults.read_text().splitlines() if request.get('step') == 3 else []
    if left:
        faults.write_text('\n'.join(left[1:]))
        exec(left[0])
