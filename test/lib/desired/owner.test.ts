import { expect, it } from 'vitest'
import { isOwner, tellCommit } from '../../../lib/desired/owner.ts'

it('an owner in Git is the name of a folder or a repository, and nothing that reads as something else', () => {
  for (const owner of ['shop', 'acme/shop.git', 'a-b_c', 'x'.repeat(100)])
    expect(isOwner(owner), owner).toBe(true)
  for (const owner of ['', '-rf', '/etc', '.hidden', 'two words', 'a\nb', 'a\n', 'é', 'x'.repeat(101)])
    expect(isOwner(owner), owner).toBe(false)
})

it('a comment says from whom, which commit and by whom, as far as Git says it', () => {
  const tell = (commitSha: string, commitAuthor: string) =>
    tellCommit({ owner: 'shop', commitSha, commitAuthor })
  expect(tell('abc123', 'Ann')).toBe('From Git: shop at abc123 by Ann')
  expect(tell('abc123', '')).toBe('From Git: shop at abc123')
  expect(tell('', 'Ann')).toBe('From Git: shop by Ann')
  expect(tell('', '')).toBe('From Git: shop')
  // It heads a request: the whole commit and the address stand beside it.
  expect(tell('0123456789abcdef0123456789abcdef01234567', 'Ann Lee <ann@example.com>')).toBe(
    'From Git: shop at 0123456789ab by Ann Lee',
  )
  expect(tell('', '<ann@example.com>')).toBe('From Git: shop by <ann@example.com>')
})
