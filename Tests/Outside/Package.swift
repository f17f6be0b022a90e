// swift-tools-version: 6.0
import PackageDescription

/// The path of FocusKit's package, or a repository that has a version of it.
let focusd: Package.Dependency =
  if let url = Context.environment["FOCUSD_URL"] {
    .package(url: url, from: "1.0.0")
  } else {
    .package(name: "focusd", path: "../..")
  }

// A program of somebody who knows SwiftUI; `.ci/outside` builds it in both language modes.
let package = Package(
  name: "Outside",
  dependencies: [focusd],
  targets: [.executableTarget(name: "Outside", dependencies: [.product(name: "FocusKit", package: "focusd")])],
  swiftLanguageModes: [Context.environment["LANGUAGE_MODE"] == "5" ? .v5 : .v6]
)
