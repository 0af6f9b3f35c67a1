from tiny.m034 import f


def test_0():
    assert f('edb') == 'edbedb'


def test_1():
    assert f('dbca') == 'dbcadbca'


def test_2():
    assert f('baac') == 'baacbaac'


def test_3():
    assert f('ecd') == 'ecdecd'


def test_4():
    assert f('bc') == 'bcbc'


def test_5():
    assert f('edbc') == 'edbcedbc'


def test_6():
    assert f('bd') == 'bdbd'


def test_7():
    assert f('ebe') == 'ebeebe'
