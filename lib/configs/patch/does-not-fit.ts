/** Thrown anywhere in this room when a patch is not meant for a config; `patchConfig` turns it into its answer. */
export class DoesNotFit extends Error {
  override readonly name = 'DoesNotFit'
}
