from tiny.m188 import f


def test_0():
    assert f('ba') == 'abax'


def test_1():
    assert f('be') == 'abex'


def test_2():
    assert f('decb') == 'adecbx'


def test_3():
    assert f('cd') == 'acdx'


def test_4():
    assert f('ee') == 'aeex'


def test_5():
    assert f('bb') == 'abbx'


def test_6():
    assert f('dda') == 'addax'


def test_7():
    assert f('ddba') == 'addbax'
