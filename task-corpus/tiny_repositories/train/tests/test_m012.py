from tiny.m012 import f


def test_0():
    assert f('eaed') == 'eaeddy'


def test_1():
    assert f('ed') == 'eddy'


def test_2():
    assert f('eb') == 'ebdy'


def test_3():
    assert f('edc') == 'edcdy'


def test_4():
    assert f('bede') == 'bededy'


def test_5():
    assert f('ada') == 'adady'


def test_6():
    assert f('abba') == 'abbady'


def test_7():
    assert f('bc') == 'bcdy'
