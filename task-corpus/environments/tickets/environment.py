"""The ticket queue of a help desk: tickets with a priority, tags and comments, and agents with skills and a limit to what
they can have open at once."""

AGENTS = {
    "kim": {"skills": ["billing", "login"], "limit": 3},
    "lea": {"skills": ["network"], "limit": 2},
    "max": {"skills": ["billing", "hardware", "network"], "limit": 2},
    "noa": {"skills": ["login"], "limit": 1},
}
PRIORITIES = ("low", "normal", "high", "urgent")
STATUSES = ("open", "closed", "merged")


def ticket(title, topic, reporter, priority="normal", assignee=None, status="open", tags=(), comments=(), into=None):
    return {"title": title, "topic": topic, "reporter": reporter, "priority": priority, "assignee": assignee,
            "status": status, "tags": sorted(tags), "comments": list(comments), "into": into}


TICKETS = {
    1: ticket("Cannot log in", "login", "ola", "high", "kim", tags=["vip"]),
    2: ticket("Invoice shows the wrong total", "billing", "per", "normal", "kim"),
    3: ticket("Wifi drops in the canteen", "network", "ola", "low", "lea"),
    4: ticket("Login page is blank", "login", "quin", tags=["browser"]),
    5: ticket("Wifi drops near the canteen", "network", "rut", "high"),
    6: ticket("Printer jams", "hardware", "per", "normal", "max", comments=["max: ordered a roller"]),
    7: ticket("Charged twice in May", "billing", "rut", "urgent", tags=["refund"]),
    8: ticket("VPN is slow", "network", "sam", "normal", "lea", "closed", comments=["lea: replaced the switch"]),
    9: ticket("Password reset mail is late", "login", "sam", "low"),
    10: ticket("Charged twice", "billing", "rut", "normal", "kim", tags=["refund", "vip"]),
}


def ticket_of(number, status=None):
    if number not in TICKETS:
        raise KeyError(f"there is no ticket {number}")
    item = TICKETS[number]
    if status is not None and item["status"] != status:
        raise ValueError(f"ticket {number} is {item['status']}, not {status}")
    return item


def agent_of(name):
    if name not in AGENTS:
        raise KeyError(f"there is no agent {name!r}")
    return AGENTS[name]


def load_of(name):
    return sum(item["assignee"] == name and item["status"] == "open" for item in TICKETS.values())


def checked_room(name, topic):
    """Raises unless the agent can take one more ticket on `topic`."""
    agent = agent_of(name)
    if topic not in agent["skills"]:
        raise ValueError(f"{name} does not know about {topic}")
    if load_of(name) >= agent["limit"]:
        raise ValueError(f"{name} has {load_of(name)} open tickets, and may not have more")


def shown(number):
    item = TICKETS[number]
    return {"number": number, **item, "tags": list(item["tags"]), "comments": list(item["comments"])}


# Tools.


def list_tickets(status: str) -> list:
    """The numbers of all tickets that are "open", "closed" or "merged", rising."""
    if status not in STATUSES:
        raise ValueError(f"a status is one of {', '.join(STATUSES)}, not {status!r}")
    return sorted(number for number, item in TICKETS.items() if item["status"] == status)


def get_ticket(number: int) -> dict:
    """One ticket: number, title, topic, reporter, priority ("low", "normal", "high", "urgent"), assignee (or None),
    status, tags, comments, into (the ticket it was merged into, or None)."""
    ticket_of(number)
    return shown(number)


def list_agents() -> list:
    """The names of all agents, sorted."""
    return sorted(AGENTS)


def get_agent(name: str) -> dict:
    """One agent: name, skills (topics), limit (of open tickets), load (open tickets now)."""
    agent = agent_of(name)
    return {"name": name, "skills": list(agent["skills"]), "limit": agent["limit"], "load": load_of(name)}


def open_ticket(title: str, topic: str, reporter: str) -> int:
    """Opens a ticket of normal priority that nobody has; returns its number."""
    if not title.strip() or not topic.strip() or not reporter.strip():
        raise ValueError("a ticket needs a title, a topic and a reporter")
    number = max(TICKETS) + 1
    TICKETS[number] = ticket(title, topic, reporter)
    return number


def assign(number: int, agent: str) -> dict:
    """Gives an open ticket to an agent who knows its topic and has room for it. Returns the ticket."""
    item = ticket_of(number, "open")
    if item["assignee"] == agent:
        raise ValueError(f"{agent} has ticket {number} already")
    checked_room(agent, item["topic"])
    item["assignee"] = agent
    return shown(number)


def unassign(number: int) -> dict:
    """Takes an open ticket away from its agent. Returns the ticket."""
    item = ticket_of(number, "open")
    if item["assignee"] is None:
        raise ValueError(f"nobody has ticket {number}")
    item["assignee"] = None
    return shown(number)


def set_priority(number: int, priority: str) -> dict:
    """Sets the priority of an open ticket. Returns the ticket."""
    item = ticket_of(number, "open")
    if priority not in PRIORITIES:
        raise ValueError(f"a priority is one of {', '.join(PRIORITIES)}, not {priority!r}")
    item["priority"] = priority
    return shown(number)


def add_tag(number: int, tag: str) -> dict:
    """Adds a tag to a ticket: lower-case letters. Returns the ticket."""
    item = ticket_of(number)
    if not (tag.isalpha() and tag.islower()) or len(tag) > 20:
        raise ValueError(f"a tag has lower-case letters only, at most 20, not {tag!r}")
    item["tags"] = sorted({*item["tags"], tag})
    return shown(number)


def comment(number: int, text: str) -> dict:
    """Adds a comment to a ticket. Returns the ticket."""
    item = ticket_of(number)
    if not text.strip():
        raise ValueError("a comment needs a text")
    item["comments"].append(text)
    return shown(number)


def close_ticket(number: int, resolution: str) -> dict:
    """Closes an open ticket that somebody has; the resolution becomes its last comment. Returns the ticket."""
    item = ticket_of(number, "open")
    if item["assignee"] is None:
        raise ValueError(f"nobody has ticket {number}; assign it before it is closed")
    if not resolution.strip():
        raise ValueError("a resolution needs a text")
    item["status"] = "closed"
    item["comments"].append(resolution)
    return shown(number)


def reopen_ticket(number: int) -> dict:
    """Opens a closed ticket again; nobody has it then. Returns the ticket."""
    item = ticket_of(number, "closed")
    item["status"], item["assignee"] = "open", None
    return shown(number)


def merge_ticket(number: int, into: int) -> dict:
    """Merges an open ticket into another open one of the same topic, which gets its tags. Returns the other."""
    item, other = ticket_of(number, "open"), ticket_of(into, "open")
    if number == into:
        raise ValueError("a ticket cannot be merged into itself")
    if item["topic"] != other["topic"]:
        raise ValueError(f"ticket {number} is about {item['topic']}, ticket {into} about {other['topic']}")
    item["status"], item["assignee"], item["into"] = "merged", None, into
    other["tags"] = sorted({*other["tags"], *item["tags"]})
    return shown(into)


TOOLS = [
    list_tickets, get_ticket, list_agents, get_agent, open_ticket, assign, unassign, set_priority, add_tag, comment,
    close_ticket, reopen_ticket, merge_ticket,
]


def dump():
    return {"tickets": TICKETS, "load": {name: load_of(name) for name in AGENTS}}


def check():
    for number, item in TICKETS.items():
        assert item["status"] in STATUSES and item["priority"] in PRIORITIES, f"ticket {number} has a strange state"
        assert (item["into"] is not None) == (item["status"] == "merged"), f"ticket {number} is merged by half"
        assert item["into"] is None or item["into"] in TICKETS, f"ticket {number} is merged into nothing"
        if item["assignee"] is not None:
            assert item["topic"] in AGENTS[item["assignee"]]["skills"], f"ticket {number} has an agent without its skill"
    for name, agent in AGENTS.items():
        assert load_of(name) <= agent["limit"], f"{name} has more open tickets than allowed"
