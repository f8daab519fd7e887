import { describe, expect, it } from 'vitest'
import { toConnectionUrl } from '../../../lib/store/dsn.ts'

describe('connection string', () => {
  it('passes a URL on', () => {
    expect(toConnectionUrl(' postgres://u:p@h:5/d ')).toBe('postgres://u:p@h:5/d')
  })

  it('reads sslmode as libpq does', () => {
    expect(toConnectionUrl('postgresql://h/d?sslmode=require')).toBe(
      'postgresql://h/d?sslmode=require&uselibpqcompat=true',
    )
  })

  it('turns keyword pairs into a URL, quotes and odd characters included', () => {
    expect(toConnectionUrl(`host=h port=6 user=me password='a b\\'c@' dbname=x sslmode=disable`)).toBe(
      "postgres://me:a%20b'c%40@h:6/x?sslmode=disable&uselibpqcompat=true",
    )
  })

  it('keeps a socket directory', () => {
    expect(toConnectionUrl('host=/run/pg user=me dbname=x')).toBe('postgres://me@/x?host=%2Frun%2Fpg')
  })

  it('refuses anything else without repeating it', () => {
    expect(() => toConnectionUrl('hunter2')).toThrow(
      /^DB_DSN is neither a postgres:\/\/ URL nor key=value pairs$/,
    )
  })
})
