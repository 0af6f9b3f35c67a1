from tiny.m136 import f


def test_0():
    assert f('ce') == 'e'


def test_1():
    assert f('aae') == 'ae'


def test_2():
    assert f('bad') == 'ad'


def test_3():
    assert f('dace') == 'ace'


def test_4():
    assert f('ae') == 'e'


def test_5():
    assert f('ebc') == 'bc'


def test_6():
    assert f('addb') == 'ddb'


def test_7():
    assert f('db') == 'b'
