from tiny.m151 import f


def test_0():
    assert f('bc') == 'bdx'


def test_1():
    assert f('bbc') == 'bdbdx'


def test_2():
    assert f('beda') == 'bedaa'


def test_3():
    assert f('deaa') == 'deaaa'


def test_4():
    assert f('caba') == 'xabaa'


def test_5():
    assert f('dbb') == 'ddbdb'


def test_6():
    assert f('ed') == 'edd'


def test_7():
    assert f('abd') == 'adbdd'
