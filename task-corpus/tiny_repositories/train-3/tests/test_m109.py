from tiny.m109 import f


def test_0():
    assert f('bdce') == 'D'


def test_1():
    assert f('ce') == 'E'


def test_2():
    assert f('bcc') == 'C'


def test_3():
    assert f('ee') == 'E'


def test_4():
    assert f('cddb') == 'D'


def test_5():
    assert f('ddc') == 'D'


def test_6():
    assert f('ed') == 'D'


def test_7():
    assert f('aaa') == 'A'
