# Convert to single precision: `f32.demote_f64` and back, with results that are subnormal.
# job: script

import array, struct
doubles = [1e-42] * 2000
pack = struct.Struct("<2000f")
packed = pack.pack(*doubles)
while True:
    pack.pack(*doubles)
    pack.unpack(packed)
    array.array("f", doubles)
