// What this room loads when it is asked for. Apart from the index, so that asking loads nothing else of the room.

/** The built-in plugins of this room: renderers and clients. Loaded when asked for: engines and trainers do without. */
export async function loadModelPlugins() {
  return (await import('./plugins.ts')).modelPlugins
}

/** Opens a renderer of this room by its name. */
export const openNamedRenderer: typeof import('./plugins.ts').openNamedRenderer = async (...args) =>
  (await import('./plugins.ts')).openNamedRenderer(...args)
