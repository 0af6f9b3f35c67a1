//! What is run in an image on the way to its snapshot.

/// Writes down where the guest's objects are.
pub const ALIVE: &str = "_veriplay_alive()";
/// The last turn that is no job.
pub const START: &str = "_veriplay_start()";
/// A program that is run as jobs are, and what its function is called with. A job leaves no streams behind.
pub const REHEARSED: &str = "import sys\nsys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__\n\
    class C:\n    def m(self): return [i * 2 for i in range(9)]\ndef f(*of): return {'a': C().m(), 1: of}\n";
/// With and without a type that has no format but the strict encoding.
pub const REHEARSED_ARGUMENTS: [&str; 3] = ["7, 'é', [1.5]", "{3}, {'a': None}", "b'x', (True, -5)"];
/// The program of the last turn: says where the memory begins behind all that is alive.
pub const FIND_END: &str =
    "import sys\nsys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__\nprint(id(bytes(4 << 20)))\n";
/// All of them, for the image's digest.
pub const ALL: [&[&str]; 2] = [&[ALIVE, START, REHEARSED, FIND_END], &REHEARSED_ARGUMENTS];
