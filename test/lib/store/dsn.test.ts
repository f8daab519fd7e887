import { describe, expect, it } from 'vitest'
import { readServers } from '../../../lib/store/dsn.ts'

const toConnectionUrl = (dsn: string) => readServers(dsn).urls.join(' ')

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

  it('names several servers in either form, with a port each or one for all', () => {
    expect(readServers('postgres://u:p@a:1,b:2,[::1]:3/d?sslmode=require')).toEqual({
      urls: ['a:1', 'b:2', '[::1]:3'].map(
        (host) => `postgres://u:p@${host}/d?sslmode=require&uselibpqcompat=true`,
      ),
      mustTakeWrites: false,
    })
    expect(readServers('host=a,b port=6 user=me dbname=x').urls).toEqual([
      'postgres://me@a:6/x',
      'postgres://me@b:6/x',
    ])
    expect(readServers('host=a,b port=6,7 user=me').urls).toEqual([
      'postgres://me@a:6/me',
      'postgres://me@b:7/me',
    ])
    expect(() => readServers('host=a,b,c port=6,7 user=me')).toThrow('3 hosts and 2 ports')
  })

  it('asks for a server that takes writes where it is told to, and for no other kind', () => {
    expect(readServers('postgres://a,b/d?target_session_attrs=read-write&sslmode=disable')).toEqual({
      urls: ['a', 'b'].map((host) => `postgres://${host}/d?sslmode=disable&uselibpqcompat=true`),
      mustTakeWrites: true,
    })
    expect(readServers('host=a user=me target_session_attrs=primary')).toEqual({
      urls: ['postgres://me@a/me'],
      mustTakeWrites: true,
    })
    expect(readServers('postgres://a/d?target_session_attrs=any').mustTakeWrites).toBe(false)
    expect(() => readServers('postgres://a/d?target_session_attrs=standby')).toThrow('found "standby"')
  })
})
