"""The shared calendar of a small office: people, rooms with seats, and events on the days 1 to 28 of one month. Times are
minutes since midnight, from 480 (8:00) to 1080 (18:00)."""

DAYS, OPENS, CLOSES = 28, 480, 1080
PEOPLE = {"ada": "Ada Brandt", "ben": "Ben Osei", "cleo": "Cleo Marin", "dan": "Dan Hale", "eva": "Eva Novak"}
ROOMS = {"attic": 4, "cellar": 2, "hall": 12, "studio": 6}


def event(title, day, start, end, room, people):
    return {"title": title, "day": day, "start": start, "end": end, "room": room, "people": sorted(people)}


EVENTS = {
    "E1": event("Budget review", 3, 540, 600, "attic", ["ada", "dan"]),
    "E2": event("Design sync", 3, 600, 660, "studio", ["ben", "cleo", "eva"]),
    "E3": event("One to one", 3, 660, 690, "cellar", ["ada", "ben"]),
    "E4": event("All hands", 5, 600, 690, "hall", ["ada", "ben", "cleo", "dan", "eva"]),
    "E5": event("Budget review", 10, 540, 600, "attic", ["ada", "dan"]),
    "E6": event("Interview", 12, 840, 900, "cellar", ["cleo", "eva"]),
    "E7": event("Retrospective", 12, 900, 990, "studio", ["ada", "ben", "cleo", "dan"]),
    "E8": event("Vendor call", 12, 900, 960, "attic", ["eva"]),
    "E9": event("Budget review", 17, 540, 600, "attic", ["ada", "dan"]),
}
COUNT = {"made": 9}


def event_of(event_id):
    if event_id not in EVENTS:
        raise KeyError(f"there is no event {event_id!r}")
    return EVENTS[event_id]


def checked_person(person):
    if person not in PEOPLE:
        raise KeyError(f"there is nobody called {person!r}")


def checked_time(day, start, end):
    if not 1 <= day <= DAYS:
        raise ValueError(f"days go from 1 to {DAYS}, not {day}")
    if not OPENS <= start < end <= CLOSES:
        raise ValueError(f"an event lies between {OPENS} and {CLOSES}, not from {start} to {end}")


def clashes(day, start, end, but):
    found = (item for event_id, item in EVENTS.items() if event_id != but)
    return [item for item in found if item["day"] == day and item["start"] < end and start < item["end"]]


def checked_place(day, start, end, room, people, but=None):
    """Raises unless the room is free and large enough and all of the people are free."""
    checked_time(day, start, end)
    if room not in ROOMS:
        raise KeyError(f"there is no room {room!r}")
    for person in people:
        checked_person(person)
    if not 1 <= len(people) <= ROOMS[room]:
        raise ValueError(f"room {room} holds from 1 to {ROOMS[room]} people, not {len(people)}")
    for other in clashes(day, start, end, but):
        if other["room"] == room:
            raise ValueError(f"room {room} is taken by {other['title']!r}")
        busy = sorted(set(people) & set(other["people"]))
        if busy:
            raise ValueError(f"{busy[0]} is busy with {other['title']!r}")


def shown(event_id):
    item = EVENTS[event_id]
    return {"id": event_id, **item, "people": list(item["people"])}


def order(event_id):
    item = EVENTS[event_id]
    return item["day"], item["start"], event_id


# Tools.


def list_people() -> dict:
    """The short name of each person, and the full one."""
    return dict(PEOPLE)


def list_rooms() -> dict:
    """Each room, and how many people it holds."""
    return dict(ROOMS)


def list_events(day: int) -> list:
    """The events of a day in order of time: id, title, day, start, end, room, people."""
    if not 1 <= day <= DAYS:
        raise ValueError(f"days go from 1 to {DAYS}, not {day}")
    return [shown(event_id) for event_id in sorted(EVENTS, key=order) if EVENTS[event_id]["day"] == day]


def agenda(person: str) -> list:
    """The ids of a person's events in order of time."""
    checked_person(person)
    return [event_id for event_id in sorted(EVENTS, key=order) if person in EVENTS[event_id]["people"]]


def get_event(event_id: str) -> dict:
    """One event: id, title, day, start, end, room, people."""
    event_of(event_id)
    return shown(event_id)


def free_rooms(day: int, start: int, end: int) -> list:
    """The rooms that nobody uses between start and end, sorted."""
    checked_time(day, start, end)
    taken = {item["room"] for item in clashes(day, start, end, None)}
    return sorted(set(ROOMS) - taken)


def create_event(title: str, day: int, start: int, end: int, room: str, people: list[str]) -> str:
    """Makes an event and returns its id. The room must be free and large enough, and all people free."""
    if not title.strip():
        raise ValueError("an event needs a title")
    people = sorted(set(people))
    checked_place(day, start, end, room, people)
    COUNT["made"] += 1
    event_id = f"E{COUNT['made']}"
    EVENTS[event_id] = event(title, day, start, end, room, people)
    return event_id


def move_event(event_id: str, day: int, start: int) -> dict:
    """Moves an event to another day and start; its length, room and people stay. Returns the event."""
    item = event_of(event_id)
    end = start + item["end"] - item["start"]
    checked_place(day, start, end, item["room"], item["people"], event_id)
    item["day"], item["start"], item["end"] = day, start, end
    return shown(event_id)


def set_room(event_id: str, room: str) -> dict:
    """Gives an event another room. Returns the event."""
    item = event_of(event_id)
    checked_place(item["day"], item["start"], item["end"], room, item["people"], event_id)
    item["room"] = room
    return shown(event_id)


def add_person(event_id: str, person: str) -> dict:
    """Adds a person to an event. Returns the event."""
    item = event_of(event_id)
    people = sorted({*item["people"], person})
    checked_place(item["day"], item["start"], item["end"], item["room"], people, event_id)
    item["people"] = people
    return shown(event_id)


def remove_person(event_id: str, person: str) -> dict:
    """Takes a person off an event; the last one cannot be. Returns the event."""
    item = event_of(event_id)
    if person not in item["people"]:
        raise ValueError(f"{person!r} does not take part in {event_id}")
    if len(item["people"]) == 1:
        raise ValueError(f"{person} is the last one in {event_id}; cancel it instead")
    item["people"] = [other for other in item["people"] if other != person]
    return shown(event_id)


def cancel_event(event_id: str) -> None:
    """Removes an event."""
    event_of(event_id)
    del EVENTS[event_id]


TOOLS = [
    list_people, list_rooms, list_events, agenda, get_event, free_rooms, create_event, move_event, set_room, add_person,
    remove_person, cancel_event,
]


def dump():
    return {"events": EVENTS, "made": COUNT["made"]}


def check():
    for event_id, item in EVENTS.items():
        checked_place(item["day"], item["start"], item["end"], item["room"], item["people"], event_id)
        assert item["people"] == sorted(set(item["people"])), f"{event_id} lists people twice or in disorder"
    assert len(EVENTS) <= COUNT["made"], "an event was made without being counted"
