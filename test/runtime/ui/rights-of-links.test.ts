import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import createRequest from '../../../functions/approvals/create.ts'
import createCampaign from '../../../functions/campaigns/create.ts'
import type { Access } from '../../../runtime/define.ts'

// The address of a page where something is made, and the endpoint that makes it.
const MADE_AT: readonly [page: string, access: Access][] = [
  ['/change', createRequest.access],
  ['/campaigns/new', createCampaign.access],
]

const UI = new URL('../../../runtime/ui/', import.meta.url)
const sources = ['pages', 'parts'].flatMap((folder) =>
  readdirSync(new URL(folder, UI))
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => readFileSync(new URL(`${folder}/${name}`, UI), 'utf8')),
)

it.each(MADE_AT)('what leads to %s asks for the right that is asked there', (page, access) => {
  const link = new RegExp(`${page}(?![\\w/])[^;]{0,160}?unless\\('([\\w:]+)'`, 'g')
  const asked = sources.flatMap((text) => [...text.matchAll(link)].map((match) => match[1]))
  expect(asked.length).toBeGreaterThan(2)
  expect(access).toMatchObject({ permission: expect.any(String) })
  expect(new Set(asked)).toEqual(new Set([(access as { permission: string }).permission]))
})
