from tiny.m017 import f


def test_0():
    assert f('bcee') == 'eec'


def test_1():
    assert f('dc') == 'c'


def test_2():
    assert f('ba') == 'a'


def test_3():
    assert f('beca') == 'ace'


def test_4():
    assert f('eae') == 'ea'


def test_5():
    assert f('cccb') == 'bcc'


def test_6():
    assert f('ae') == 'e'


def test_7():
    assert f('ac') == 'c'
