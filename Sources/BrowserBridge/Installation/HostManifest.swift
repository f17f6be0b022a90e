internal import BridgeJSON

/// What tells a browser of the host: its path, and which extension may start it.
package enum HostManifest {
  /// The name under which the extension asks for the host.
  package static let name = "org.focusd.browser"
  /// The manifest's name in a folder of manifests.
  package static let fileName = name + ".json"
  /// The extension, as Firefox knows it.
  package static let firefoxExtension = "browser@focusd.org"
  /// The extension, as Chromium derives it from the key in its manifest.
  package static let chromiumExtension = "indmdfpgmnkabgfgaohcemnkhgdjobpe"

  /// The manifest for browsers of a kind, of a host at `path`.
  package static func text(for kind: Browser.Kind, host path: String) -> String {
    let allowed: (name: String, JSONText) =
      switch kind {
      case .chromium: ("allowed_origins", .array([.text("chrome-extension://\(chromiumExtension)/")]))
      case .firefox: ("allowed_extensions", .array([.text(firefoxExtension)]))
      }
    let manifest = JSONText.object([
      "name": .text(name), "description": .text("Focused values of web pages for focusd"), "path": .text(path),
      "type": .text("stdio"), allowed.name: allowed.1,
    ])
    return String(decoding: manifest.bytes ?? [], as: UTF8.self) + "\n"
  }
}
