from tiny.m212 import f


def test_0():
    assert f('ccec') == 'cec'


def test_1():
    assert f('cbbc') == 'cbb'


def test_2():
    assert f('ab') == 'b'


def test_3():
    assert f('eeb') == 'be'


def test_4():
    assert f('beab') == 'bae'


def test_5():
    assert f('cc') == 'c'


def test_6():
    assert f('dca') == 'ac'


def test_7():
    assert f('abac') == 'cab'
