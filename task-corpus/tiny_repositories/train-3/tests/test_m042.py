from tiny.m042 import f


def test_0():
    assert f('dbae') == 'dbaeadbaeadbaea'


def test_1():
    assert f('de') == 'deadeadea'


def test_2():
    assert f('ae') == 'aeaaeaaea'


def test_3():
    assert f('eb') == 'ebaebaeba'


def test_4():
    assert f('aab') == 'aabaaabaaaba'


def test_5():
    assert f('beab') == 'beababeababeaba'


def test_6():
    assert f('bedc') == 'bedcabedcabedca'


def test_7():
    assert f('ddcd') == 'ddcdaddcdaddcda'
