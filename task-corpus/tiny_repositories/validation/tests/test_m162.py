from tiny.m162 import f


def test_0():
    assert f('dbad') == 'abdzdabdzd'


def test_1():
    assert f('cebe') == 'beczebecze'


def test_2():
    assert f('bdc') == 'dbzcdbzc'


def test_3():
    assert f('db') == 'dzbdzb'


def test_4():
    assert f('bbe') == 'bbzebbze'


def test_5():
    assert f('ac') == 'azcazc'


def test_6():
    assert f('cddb') == 'ddczbddczb'


def test_7():
    assert f('ec') == 'ezcezc'
