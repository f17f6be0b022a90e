// swift-tools-version: 6.0
import PackageDescription

// A program of somebody who knows SwiftUI and has FocusKit by its path; `.ci/outside` builds it in both language modes.
let package = Package(
  name: "Outside",
  dependencies: [.package(name: "focusd", path: "../..")],
  targets: [.executableTarget(name: "Outside", dependencies: [.product(name: "FocusKit", package: "focusd")])],
  swiftLanguageModes: [Context.environment["LANGUAGE_MODE"] == "5" ? .v5 : .v6]
)
