from tiny.m134 import f


def test_0():
    assert f('dd') == 'xddb'


def test_1():
    assert f('cc') == 'xccb'


def test_2():
    assert f('ae') == 'xaeb'


def test_3():
    assert f('dea') == 'xdeab'


def test_4():
    assert f('ead') == 'xeadb'


def test_5():
    assert f('dbd') == 'xdbdb'


def test_6():
    assert f('aa') == 'xaab'


def test_7():
    assert f('de') == 'xdeb'
