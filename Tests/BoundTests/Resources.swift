import Foundation
import Testing

/// The path of one of the tests' resources.
func resource(_ name: String) throws -> String {
  try #require(Bundle.module.path(forResource: name, ofType: nil, inDirectory: "Resources"))
}
