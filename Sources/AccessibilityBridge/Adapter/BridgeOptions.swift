/// What the bridge was told on its command line, or by the user's settings.
package struct BridgeOptions: Equatable {
  /// Programs that are never looked into, beside those that keep secrets.
  package var ignored: [String] = []
  /// Programs whose texts are secrets.
  package var secret: [String] = []
  /// Whether terminals show their text.
  package var showsTerminals = false
  /// Whether it turns accessibility on while it runs.
  package var enables = true

  package init() {}
}
