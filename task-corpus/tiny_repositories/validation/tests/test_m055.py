from tiny.m055 import f


def test_0():
    assert f('cd') == 'ddd'


def test_1():
    assert f('cb') == 'bbb'


def test_2():
    assert f('eb') == 'bbb'


def test_3():
    assert f('eeae') == 'eaeeaeeae'


def test_4():
    assert f('abbd') == 'bbdbbdbbd'


def test_5():
    assert f('baa') == 'aaaaaa'


def test_6():
    assert f('ebd') == 'bdbdbd'


def test_7():
    assert f('dccc') == 'ccccccccc'
