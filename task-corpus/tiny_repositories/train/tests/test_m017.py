from tiny.m017 import f


def test_0():
    assert f('bae') == -1


def test_1():
    assert f('ee') == 'eed'


def test_2():
    assert f('cec') == -1


def test_3():
    assert f('bb') == -1


def test_4():
    assert f('cbae') == -1


def test_5():
    assert f('bcc') == -1


def test_6():
    assert f('addd') == 1


def test_7():
    assert f('edd') == 'eddd'
