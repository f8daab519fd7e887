import { expect, it } from 'vitest'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import { describeOddity } from '../../../runtime/ui/parts/instance-words.ts'

it('an instance that failed its config says so in its own words, where nothing else says what it is about', () => {
  const status = {
    status: 'failed',
    error_cause: 'invalid_config',
    error_title: 'Invalid config',
    error_message: '\'exporters\' unknown type: "kafka"',
  }
  const instance = { remote_config_status: status } as unknown as LiveInstance
  expect(describeOddity('failed', instance)).toContain('unknown type: "kafka"')
})
