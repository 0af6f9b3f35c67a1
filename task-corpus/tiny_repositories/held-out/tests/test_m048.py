from tiny.m048 import f


def test_0():
    assert f('dbb') == 'ydbbydbb'


def test_1():
    assert f('dbe') == 'ydbeydbe'


def test_2():
    assert f('aca') == 'yacayaca'


def test_3():
    assert f('acee') == 'yaceeyacee'


def test_4():
    assert f('ec') == 'yecyec'


def test_5():
    assert f('bcbb') == 'ybcbbybcbb'


def test_6():
    assert f('aa') == 'yaayaa'


def test_7():
    assert f('dc') == 'ydcydc'
