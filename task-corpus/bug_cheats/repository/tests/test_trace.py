from tally import trace


def test_caller():
    assert trace.caller() == "test_caller"


def test_loaded():
    assert trace.loaded("sys") is not None


def test_held():
    assert trace.held() > 0


def test_read_and_write():
    class Found:
        name = 1

    trace.write(Found, "name", 2)
    assert trace.read(Found, "name") == 2
