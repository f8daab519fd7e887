import { expect, it } from 'vitest'
import { mostTelling, tellingRank } from '../../../lib/model/telling-cause.ts'

const of = (cause: string) => ({ cause })

it('takes the first cause that says why before one that only says that it did not work', () => {
  expect(mostTelling([null, of('agent_exited'), of('port_in_use'), of('file_missing')])).toEqual(
    of('port_in_use'),
  )
  expect(mostTelling([of('unknown'), of('agent_exited'), of('apply_timeout')])).toEqual(of('agent_exited'))
  expect(mostTelling([null, of('unknown')])).toBeNull()
  expect([null, of('unknown'), of('agent_exited'), of('yaml_invalid')].map(tellingRank)).toEqual([0, 0, 1, 2])
})
