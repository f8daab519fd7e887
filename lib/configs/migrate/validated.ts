import type { MigrationPreview } from '../../wire/migration.ts'
import { summariseChecks, validateStatically } from '../check/validate.ts'
import { type MigrationInput, previewMigration } from './preview.ts'

/** A preview with the light validation of its draft: no workload, no version, no collector binary. */
export function previewValidatedMigration(input: MigrationInput, validatedAt: Date): MigrationPreview {
  const { save_hint, ...preview } = previewMigration(input)
  const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt }
  const { checks, targetVersion } = validateStatically(preview.draft_yaml, about)
  const { valid, overall_status, summary, validated_at } = summariseChecks(checks, targetVersion, validatedAt)
  return { ...preview, validation: { valid, overall_status, summary, validated_at }, save_hint }
}
