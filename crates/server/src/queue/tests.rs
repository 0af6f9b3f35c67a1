//! The order in which pieces run, and what becomes of those that are dropped.

use std::sync::mpsc;

use super::*;

fn client(name: &str) -> ClientKey {
    ClientKey::named(name)
}

/// A queue whose spare thread waits for nothing and gives slices of no length.
fn new_queue(capacity: usize) -> Queue {
    Queue::new(capacity, FirstSlices { spares: 1, patience: Duration::ZERO, length: Duration::ZERO })
}

/// Pieces that report their number.
fn pieces(report: &mpsc::Sender<u32>, numbers: impl IntoIterator<Item = u32>) -> VecDeque<Piece> {
    let piece = |number| {
        let report = report.clone();
        let piece = move |_| {
            report.send(number).expect("the test listens");
            Progress::Done
        };
        Box::new(piece) as Piece
    };
    numbers.into_iter().map(piece).collect()
}

fn run_all(queue: &Queue) {
    loop {
        let Some(taken) = queue.shared.lock().take_for_worker() else { return };
        queue.run(taken, Turn::Whole);
    }
}

#[test]
fn a_client_with_much_work_does_not_delay_another() {
    let (queue, (report, seen)) = (new_queue(1 << 20), mpsc::channel());
    let much = queue.submit(client("a"), pieces(&report, 0..100_000), Admission::Bounded).expect("there is room");
    let one = queue.submit(client("b"), pieces(&report, [200_000]), Admission::Bounded).expect("there is room");
    run_all(&queue);
    let order: Vec<u32> = seen.try_iter().collect();
    assert_eq!(order[..3], [0, 200_000, 1]);
    assert_eq!(order.len(), 100_001);
    drop((much, one));
    assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
}

#[test]
fn requests_of_one_client_take_turns_and_keep_their_order() {
    let (queue, (report, seen)) = (new_queue(100), mpsc::channel());
    let first = queue.submit(client("a"), pieces(&report, 0..3), Admission::Bounded).expect("there is room");
    let second = queue.submit(client("a"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 11, 2]);
    drop((first, second));
}

#[test]
fn a_request_that_is_dropped_loses_what_has_not_started() {
    let (queue, (report, seen)) = (new_queue(100), mpsc::channel());
    let gone = queue.submit(client("a"), pieces(&report, 0..5), Admission::Bounded).expect("there is room");
    let kept = queue.submit(client("b"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
    (queue.shared.lock().take_for_worker().expect("a piece waits").piece)(Turn::Whole);
    drop(gone);
    assert_eq!(queue.load(), QueueLoad { waiting: 2, running: 1, cancelled: 4 });
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 11]);
    drop(kept);
}

#[test]
fn room_is_bounded_for_all_and_for_each_client() {
    let (queue, (report, _seen)) = (new_queue(10), mpsc::channel());
    let submit = |name, count, admission| queue.submit(client(name), pieces(&report, 0..count), admission);
    assert_eq!(submit("a", 6, Admission::Bounded).err(), Some(QueueFull::TooLarge { pieces: 6, share: 5 }));
    let a = submit("a", 5, Admission::Bounded).expect("half is free");
    let full = |waiting, mine| Some(QueueFull::Busy { waiting, mine, capacity: 10, share: 5 });
    assert_eq!(submit("a", 1, Admission::Bounded).err(), full(5, 5));
    let b = submit("b", 5, Admission::Bounded).expect("the other half is free");
    assert_eq!(submit("c", 1, Admission::Bounded).err(), full(10, 0));
    let always = submit("c", 1, Admission::Always).expect("this endpoint does not refuse");
    assert_eq!(queue.load().waiting, 11);
    drop(a);
    let again = submit("c", 1, Admission::Bounded).expect("a cancelled request makes room");
    drop((b, always, again));
    assert_eq!(queue.load().waiting, 0);
}

#[test]
fn a_request_that_is_not_refused_enters_bit_by_bit() {
    let (queue, (report, seen)) = (new_queue(4), mpsc::channel());
    let many = queue.submit(client("a"), pieces(&report, 0..400), Admission::Always).expect("it is not refused");
    assert_eq!(queue.load().waiting, 2, "its client's half");
    let again = queue.submit(client("a"), pieces(&report, 1000..1003), Admission::Always).expect("it is not refused");
    assert_eq!(queue.load().waiting, 3, "one beyond the bound");
    let other = queue.submit(client("b"), pieces(&report, [2000]), Admission::Bounded).expect("there is room");
    // All of them run, in turns, and never more wait than the bound and one for each request that is not refused.
    let mut order = Vec::new();
    while queue.load().waiting > 0 {
        assert!(queue.load().waiting <= 4 + 2);
        let taken = queue.shared.lock().take_for_worker().expect("a piece waits");
        queue.run(taken, Turn::Whole);
        order.extend(seen.try_iter());
    }
    assert_eq!((order.len(), &order[..4]), (404, &[0, 2000, 1000, 1][..]));
    drop((many, again, other));
    assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
}

#[test]
fn a_request_that_is_dropped_loses_what_has_not_entered_too() {
    let (queue, (report, seen)) = (new_queue(2), mpsc::channel());
    let many = queue.submit(client("a"), pieces(&report, 0..400), Admission::Always).expect("it is not refused");
    (queue.shared.lock().take_for_worker().expect("a piece waits").piece)(Turn::Whole);
    drop(many);
    assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 1, cancelled: 399 });
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn closing_drops_what_waits_and_ends_the_threads() {
    let (queue, (report, seen)) = (new_queue(10), mpsc::channel());
    let ticket = queue.submit(client("a"), pieces(&report, 0..3), Admission::Bounded).expect("there is room");
    queue.close();
    for thread in queue.start_threads(2).expect("threads start") {
        thread.join().expect("it ends");
    }
    drop(report);
    assert_eq!(seen.iter().count(), 0);
    assert_eq!(queue.submit(client("a"), VecDeque::new(), Admission::Always).err(), Some(QueueFull::Closed));
    drop(ticket);
}

#[test]
fn a_panic_costs_its_piece_alone() {
    let (queue, (report, seen)) = (new_queue(10), mpsc::channel());
    let mut work = pieces(&report, [1]);
    work.push_front(Box::new(|_| panic!("a bug")));
    let ticket = queue.submit(client("a"), work, Admission::Bounded).expect("there is room");
    let threads = queue.start_threads(1).expect("a thread starts");
    assert_eq!(seen.recv(), Ok(1));
    queue.close();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    drop(ticket);
}

/// A piece without end in its first slice, which reports its number when it may run on.
fn long_piece(report: &mpsc::Sender<u32>, number: u32) -> Piece {
    let report = report.clone();
    Box::new(move |turn| {
        if turn != Turn::Whole {
            return Progress::Outgrown;
        }
        report.send(number).expect("the test listens");
        Progress::Done
    })
}

/// Does on this thread what a spare one does.
fn give_first_slices(queue: &Queue, count: usize) {
    for _ in 0..count {
        let taken = queue.shared.lock().take_for_spare().expect("a piece waits");
        queue.run(taken, Turn::Slice(Duration::ZERO));
    }
}

#[test]
fn long_pieces_do_not_keep_short_ones_waiting_and_all_are_done() {
    let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
    let (release, held) = mpsc::channel::<()>();
    let holds = Box::new(move |_| {
        let _ = held.recv();
        Progress::Done
    });
    let threads = queue.start_threads(1).expect("threads start");
    let first = queue.submit(client("a"), VecDeque::from([holds as Piece]), Admission::Bounded).expect("there is room");
    let long = (0..60).map(|number| long_piece(&report, number)).collect();
    let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
    let short = queue.submit(client("a"), pieces(&report, 100..160), Admission::Bounded).expect("there is room");
    let answered: Vec<u32> = seen.iter().take(60).collect();
    assert_eq!(answered, (100..160).collect::<Vec<_>>(), "while the only worker is held");
    // The worker would take new pieces and outgrown ones in turns.
    while !queue.shared.lock().new.is_empty() {
        std::thread::yield_now();
    }
    drop(release);
    let answered: Vec<u32> = seen.iter().take(60).collect();
    assert_eq!(answered, (0..60).collect::<Vec<_>>());
    drop((first, long, short));
    queue.close();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
}

#[test]
fn spare_threads_leave_a_long_request_for_later() {
    let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
    let mut mixed = pieces(&report, 1..3);
    mixed.push_front(long_piece(&report, 0));
    let mixed = queue.submit(client("a"), mixed, Admission::Bounded).expect("there is room");
    let short = queue.submit(client("a"), pieces(&report, 10..13), Admission::Bounded).expect("there is room");
    let other = queue.submit(client("b"), pieces(&report, [20]), Admission::Bounded).expect("there is room");
    give_first_slices(&queue, 7);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [20, 10, 11, 12, 1, 2]);
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0]);
    drop((mixed, short, other));
}

#[test]
fn workers_take_new_and_outgrown_pieces_in_turns() {
    let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
    let long = (0..3).map(|number| long_piece(&report, number)).collect();
    let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
    give_first_slices(&queue, 3);
    let short = queue.submit(client("a"), pieces(&report, 10..15), Admission::Bounded).expect("there is room");
    assert_eq!(queue.load(), QueueLoad { waiting: 8, running: 0, cancelled: 0 });
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 11, 2, 12, 13, 14]);
    drop((long, short));
}

#[test]
fn outgrown_pieces_of_one_request_take_one_turn() {
    let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
    let many = (0..3).map(|number| long_piece(&report, number)).collect();
    let many = queue.submit(client("a"), many, Admission::Bounded).expect("there is room");
    let one = VecDeque::from([long_piece(&report, 10)]);
    let one = queue.submit(client("a"), one, Admission::Bounded).expect("there is room");
    give_first_slices(&queue, 4);
    assert_eq!(queue.load(), QueueLoad { waiting: 4, running: 0, cancelled: 0 });
    run_all(&queue);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 2]);
    drop((many, one));
}

#[test]
fn a_request_that_is_dropped_loses_its_outgrown_pieces() {
    let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
    let long = (0..4).map(|number| long_piece(&report, number)).collect();
    let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
    give_first_slices(&queue, 2);
    let runs = queue.shared.lock().take_new().expect("a piece waits");
    drop(long);
    assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 1, cancelled: 3 });
    queue.run(runs, Turn::Whole);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [2]);
}
