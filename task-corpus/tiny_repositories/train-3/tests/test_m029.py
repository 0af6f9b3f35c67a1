from tiny.m029 import f


def test_0():
    assert f('bec') == 'cebe'


def test_1():
    assert f('ae') == 'eea'


def test_2():
    assert f('caed') == 'decae'


def test_3():
    assert f('aed') == 'deae'


def test_4():
    assert f('ceeb') == 'becee'


def test_5():
    assert f('dca') == 'aedc'


def test_6():
    assert f('dccb') == 'bedcc'


def test_7():
    assert f('de') == 'eed'
