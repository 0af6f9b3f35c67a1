//! Threads, pools and event loops of a guest that has one stack: what runs when, what is printed, and how a program that waits for ever ends.

use veriplay_core::{Exit, Job, Limits};

use crate::support::{ends_and_harms_nobody, limits, run, script, text};

/// What a script prints, which must end normally, as it does a second time.
fn printed(program: &str) -> String {
    // Room for imports.
    let limits = Limits { fuel: 20_000_000_000, ..limits() };
    let job = Job { limits, sleep_fuel: 1000, ..script(program) };
    let outcome = run(&job);
    assert_eq!(outcome.exit, Exit::Returned, "{program}\n{}", text(&outcome.stderr));
    assert_eq!(run(&job), outcome, "{program}");
    text(&outcome.stdout)
}

/// The last line that a script writes to standard error, which must end by that exception.
fn error_of(program: &str, kind: &str) -> String {
    let job = Job { limits: Limits { fuel: 20_000_000_000, ..limits() }, ..script(program) };
    assert_eq!(ends_and_harms_nobody(&job), ("Raised".to_owned(), kind.to_owned()), "{program}");
    run(&job).error.unwrap().message
}

#[test]
fn a_thread_runs_when_it_is_started_with_a_name_and_an_identity_of_its_own() {
    let program = "import sys, threading
sys.setrecursionlimit(10**6)
print(threading.stack_size(1 << 26), threading.stack_size())
def depth(n): return n and 1 + depth(n - 1)
def main(x, *, y):
    print(x, y, depth(20000), threading.current_thread().name, threading.get_ident() == threading.main_thread().ident)
t = threading.Thread(target=main, args=(1,), kwargs={'y': 2})
print(t.is_alive(), t.ident)
t.start()
print(t.is_alive(), threading.active_count(), threading.current_thread().name)
t.join()
try: t.start()
except RuntimeError as error: print(error)
class Own(threading.Thread):
    def run(self): print('own', self.daemon)
Own(daemon=True).start()
import _thread
_thread.start_new_thread(print, ('old', 'way'))";
    let expected = "0 67108864\nFalse None\n1 2 20000 Thread-1 (main) False\nFalse 1 MainThread\nthreads can only be started once\n\
                    own True\nold way\n";
    assert_eq!(printed(program), expected);
}

#[test]
fn the_end_of_contest_programs_is_a_thread_that_nobody_joins() {
    let mut job =
        script("import threading\ndef main():\n    print(int(input()) + 1)\nthreading.Thread(target=main).start()");
    job.stdin = b"1\n".to_vec();
    assert_eq!(text(&run(&job).stdout), "2\n");
    // This one waits for what the main thread does later, so it runs when that is at its end.
    let later = "import threading\nready = threading.Event()\ndef main():\n    ready.wait()\n    print('ready')\n\
                 threading.Thread(target=main).start()\nready.set()\nprint('set')";
    assert_eq!(printed(later), "set\nready\n");
    // Nobody waits for a daemon.
    assert_eq!(printed(&later.replace("target=main", "target=main, daemon=True")), "set\n");
}

#[test]
fn an_exception_in_a_thread_is_written_to_stderr_and_ends_nothing_else() {
    let program = "import sys, threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint('on')\n\
                   threading.Thread(target=sys.exit, args=(3,)).start()\n\
                   threading.excepthook = lambda args: print('hook', args.exc_type.__name__, args.thread.name)\n\
                   threading.Thread(target=lambda: {}['k'], name='T').start()";
    let outcome = run(&script(program));
    let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
    assert_eq!((outcome.exit, stdout.as_str()), (Exit::Returned, "on\nhook KeyError T\n"));
    assert!(
        stderr.starts_with("Exception in thread Thread-1 (<lambda>):\n")
            && stderr.ends_with("ZeroDivisionError: division by zero\n"),
        "{stderr}"
    );
}

#[test]
fn threads_that_wait_for_one_another_run_in_an_order_that_lets_them() {
    let consumer_first = "import queue, threading
q = queue.Queue()
def consume():
    while (item := q.get()) is not None: print(item)
def produce():
    for item in 1, 2, None: q.put(item)
threads = [threading.Thread(target=consume), threading.Thread(target=produce)]
for t in threads: t.start()
for t in threads: t.join()
print([t.is_alive() for t in threads])";
    assert_eq!(printed(consumer_first), "1\n2\n[False, False]\n");
    let workers = "import queue, threading
q = queue.Queue()
def work():
    while True:
        item = q.get()
        print(item)
        q.task_done()
for _ in range(2): threading.Thread(target=work, daemon=True).start()
for item in range(3): q.put(item)
q.join()
print('joined')";
    assert_eq!(printed(workers), "0\n1\n2\njoined\n");
    let in_order = "import threading
class Foo:
    def __init__(self): self.first_done, self.second_done = threading.Event(), threading.Event()
    def first(self): print('first'); self.first_done.set()
    def second(self): self.first_done.wait(); print('second'); self.second_done.set()
    def third(self): self.second_done.wait(); print('third')
foo = Foo()
threads = [threading.Thread(target=f) for f in (foo.third, foo.second, foo.first)]
for t in threads: t.start()
for t in threads: t.join()";
    assert_eq!(printed(in_order), "first\nsecond\nthird\n");
    let barrier = "import threading\nb = threading.Barrier(3)\npassed = []\n\
                   threads = [threading.Thread(target=lambda: passed.append(b.wait())) for _ in range(3)]\n\
                   for t in threads: t.start()\nfor t in threads: t.join()\nprint(sorted(passed))";
    assert_eq!(printed(barrier), "[0, 1, 2]\n");
    let held = "import threading\nlock = threading.Lock()\ndef f():\n    with lock: print('inside')\n\
                with lock:\n    t = threading.Thread(target=f)\n    t.start()\n    print('released')\nt.join()";
    assert_eq!(printed(held), "released\ninside\n");
}

#[test]
fn locks_are_those_of_python() {
    let program = "import threading
lock, again = threading.Lock(), threading.RLock()
total = 0
def add():
    global total
    for _ in range(100):
        with lock: total += 1
threads = [threading.Thread(target=add) for _ in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(total, lock.locked(), lock.acquire(), lock.acquire(False), lock.acquire(timeout=1), lock.locked(), lock.release())
with again:
    with again: print('again')
for wrong in (lock.release, lambda: lock.acquire(False, 1), lambda: lock.acquire(True, -2), again.release):
    try: wrong()
    except (RuntimeError, ValueError) as error: print(error)
local = threading.local()
local.x = 1
threading.Thread(target=lambda: print(hasattr(local, 'x'))).start()
print(local.x, threading.Semaphore(2).acquire(), threading.Event().wait(0.5))";
    let expected = "500 False True False False True None\nagain\nrelease unlocked lock\n\
                    can't specify a timeout for a non-blocking call\ntimeout value must be a non-negative number\n\
                    cannot release un-acquired lock\nFalse\n1 True False\n";
    assert_eq!(printed(program), expected);
}

#[test]
fn timers_run_by_the_clock_of_the_guest() {
    let program = "import threading, time
threading.Timer(2, print, ['two']).start()
threading.Timer(1, print, ['one']).start()
gone = threading.Timer(1.5, print, ['gone'])
gone.start()
gone.cancel()
threading.Timer(9, print, ['nine']).start()
begun = time.monotonic()
time.sleep(3)
print('slept', round(time.monotonic() - begun, 2))";
    assert_eq!(printed(program), "one\ntwo\nslept 3.0\nnine\n");
}

#[test]
fn a_wait_that_nothing_can_end_is_an_error_that_says_what_waits() {
    for (wait, what) in [
        ("queue.Queue().get()", "Queue.get"),
        ("q.put(2)", "Queue.put"),
        ("queue.SimpleQueue().get()", "_PySimpleQueue.get"),
        ("threading.Event().wait()", "Event.wait"),
        ("lock.acquire() and lock.acquire()", "Lock.acquire"),
        ("c.wait()", "Condition.wait"),
        ("threading.Semaphore(0).acquire()", "Semaphore.acquire"),
    ] {
        let program = format!(
            "import queue, threading\nlock, c, q = threading.Lock(), threading.Condition(), queue.Queue(1)\nc.acquire()\nq.put(0)\n{wait}"
        );
        let message = error_of(&program, "Deadlock");
        assert!(
            message.starts_with(&format!("MainThread waits in {what}, and no other thread can run")),
            "{wait}: {message}"
        );
    }
    let lost = "import queue, threading\nq = queue.Queue()\ndef work():\n    while True:\n        q.get()\n        q.task_done()\n\
                t = threading.Thread(target=work)\nt.start()\nq.put(1)\nq.join()\nprint('joined')\nt.join()";
    assert!(error_of(lost, "Deadlock").contains("cannot be returned to"));
    let caught = "import queue\ntry: queue.Queue().get()\nexcept RuntimeError as error: print(type(error).__name__)";
    assert_eq!(printed(caught), "Deadlock\n");
}

#[test]
fn pools_of_threads_run_their_jobs_in_order() {
    let program = "from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from multiprocessing.dummy import Pool
from multiprocessing.pool import ThreadPool
import queue, threading
with ThreadPoolExecutor(max_workers=2, thread_name_prefix='P', initializer=print, initargs=('begin',)) as pool:
    print(list(pool.map(pow, (2, 3), (3, 2))), pool.submit(lambda: threading.current_thread().name).result())
    jobs = [pool.submit(int, text) for text in ('7', 'x')]
    print(sorted(str(job.exception()) for job in as_completed(jobs)), len(wait(jobs).done))
    inner = pool.submit(lambda: pool.submit(len, 'abc').result())
    print(inner.result())
    q = queue.Queue()
    got, put = pool.submit(q.get), pool.submit(q.put, 5)
    print(got.result(), put.result())
try: pool.submit(print)
except RuntimeError as error: print(error)
try: ThreadPoolExecutor(0)
except ValueError as error: print(error)
with ThreadPool(2) as pool:
    print(pool.map(abs, [-1, 2]), pool.starmap(divmod, [(7, 2)]), list(pool.imap(str, [1, 2])), pool.apply(max, (1, 2)))
    later = pool.apply_async(abs, (-3,), callback=lambda found: print('called back', found))
    print(later.get(timeout=1), later.ready(), later.successful())
    try: pool.map(int, ['1', 'x'])
    except ValueError as error: print(error)
pool = Pool(4)
print(pool.map(len, ['a', 'bb']), pool.close(), pool.join())";
    let expected = "begin\n[8, 9] P_0\n['None', \"invalid literal for int() with base 10: 'x'\"] 2\n3\n5 None\n\
                    cannot schedule new futures after shutdown\nmax_workers must be greater than 0\n\
                    [1, 2] [(3, 1)] ['1', '2'] 2\ncalled back 3\n3 True True\ninvalid literal for int() with base 10: 'x'\n[1, 2] None None\n";
    assert_eq!(printed(program), expected);
}

#[test]
fn processes_are_refused_with_a_word_on_what_there_is() {
    for program in [
        "import multiprocessing as m\nm.Pool(2)",
        "import multiprocessing as m\nm.Process(target=print).start()",
        "from multiprocessing import Queue\nQueue()",
        "import multiprocessing as m\nm.Manager()",
        "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor()",
        "from multiprocessing.pool import Pool\nPool(2)",
    ] {
        let message = error_of(program, "OSError");
        assert!(message.contains("processes are not available") && message.contains("ThreadPoolExecutor"), "{message}");
    }
    assert_eq!(
        printed("import multiprocessing as m\nprint(m.cpu_count(), m.current_process().name)"),
        "1 MainProcess\n"
    );
}

#[test]
fn an_event_loop_waits_by_the_clock_of_the_guest() {
    let program = "import asyncio, time
async def after(seconds, what):
    await asyncio.sleep(seconds)
    return what
async def main():
    begun = time.monotonic()
    print(await asyncio.gather(*(after(3 - i, i) for i in range(3))), round(time.monotonic() - begun, 2))
    for done in asyncio.as_completed([after(2, 'b'), after(1, 'a')]): print(await done)
    q = asyncio.Queue(1)
    async def produce():
        for i in range(3): await q.put(i)
        await q.put(None)
    async def consume():
        while (item := await q.get()) is not None: print('item', item)
    await asyncio.gather(produce(), consume())
    for late in (asyncio.wait_for(after(9, ''), 1), asyncio.wait_for(asyncio.Event().wait(), 1)):
        try: await late
        except TimeoutError: print('late')
    lock = asyncio.Lock()
    async def locked(n):
        async with lock: return await after(1, n)
    print(await asyncio.gather(locked(1), locked(2)), round(time.monotonic() - begun, 1))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(after(1, 'grouped'))
    print(task.result(), await asyncio.to_thread(sum, [1, 2]))
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, lambda: asyncio.run(after(1, 'inner'))))
    loop.call_later(1, print, 'called')
    await asyncio.sleep(2)
asyncio.run(main())
loop = asyncio.new_event_loop()
print(loop.run_until_complete(after(1, 'loop')), loop.close())";
    let expected =
        "[0, 1, 2] 3.0\na\nb\nitem 0\nitem 1\nitem 2\nlate\nlate\n[1, 2] 9.0\ngrouped 3\ninner\ncalled\nloop None\n";
    assert_eq!(printed(program), expected);
    let message =
        error_of("import asyncio\nasync def stuck(): await asyncio.Event().wait()\nasyncio.run(stuck())", "Deadlock");
    assert!(message.contains("an event loop of asyncio with the tasks Task-1 (stuck)"), "{message}");
    let sockets = "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', 80))";
    let job = Job { limits: Limits { fuel: 20_000_000_000, ..limits() }, ..script(sockets) };
    assert_eq!(ends_and_harms_nobody(&job).0, "Raised");
}
