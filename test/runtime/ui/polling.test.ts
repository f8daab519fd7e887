import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const PAGES = new URL('../../../runtime/ui/pages/', import.meta.url)

it('no page asks again and again by a timer of its own: `usePolling` stops in a tab that nobody sees', () => {
  const own = readdirSync(PAGES).filter((name) =>
    readFileSync(new URL(name, PAGES), 'utf8').includes('setInterval('),
  )
  expect(own).toEqual([])
})
